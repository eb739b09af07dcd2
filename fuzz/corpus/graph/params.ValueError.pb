
#
vVarHandleOp*
shapeR
body