/** Texts of how a list is seen: pages and columns. */
export const view = {
  'view.pages': 'Seiten zu 100 Zeilen, ohne endloses Rollen',
  'view.columns': 'Spalten',
  'view.width': 'Breite von {column}',
  'view.up': '{column} zum Anfang rücken',
  'view.down': '{column} zum Ende rücken',
  'view.moved': '{column} ist Spalte {place} von {count}.',
  'view.usual': 'Die üblichen Spalten',
  'view.allPages': 'Seiten',
  'view.previous': 'Zurück',
  'view.following': 'Weiter',
  'view.range': 'Zeilen {from} bis {to}',
  'view.rangeOf': 'Zeilen {from} bis {to} von {count}',
} as const
