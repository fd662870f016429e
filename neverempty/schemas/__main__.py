"""Write the schema files anew after a change of the models."""

from neverempty.schemas import write_schemas

if __name__ == "__main__":
    write_schemas()
