/** Texts of how a list is seen: pages and columns. */
export const view = {
  'view.pages': 'Pages of 100 rows, without endless scrolling',
  'view.columns': 'Columns',
  'view.width': 'Width of {column}',
  'view.up': 'Move {column} towards the start',
  'view.down': 'Move {column} towards the end',
  'view.moved': '{column} is column {place} of {count}.',
  'view.usual': 'The usual columns',
  'view.allPages': 'Pages',
  'view.previous': 'Previous',
  'view.following': 'Next',
  'view.range': 'Rows {from} to {to}',
  'view.rangeOf': 'Rows {from} to {to} of {count}',
} as const
