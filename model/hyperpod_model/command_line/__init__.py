"""What the commands of this project have in common: how they take options, write and end."""
