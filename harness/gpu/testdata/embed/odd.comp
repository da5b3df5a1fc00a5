#version 450
void main() {} // ; [ ] "quotes" \ back\\slash ${NOT_A_VARIABLE} @X@ é ]]; )" 

	no newline at the end;;