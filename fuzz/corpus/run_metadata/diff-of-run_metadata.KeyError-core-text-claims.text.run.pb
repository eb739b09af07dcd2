


dense/MatMulљв’Ѕђжл