
	
xNoOp
Bx
	
cCx