"""Steps, cores and transfers of TPUs."""
