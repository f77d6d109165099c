"""Who is the controller, who is taken for alive, and who may lead."""
