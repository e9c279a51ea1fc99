"""What a project defines: checked, compared with what is there, and carried out."""
