/** Texts of the list of keys. */
export const keys = {
  'keys.single': 'Einzelne Tasten sind aus; im Konto lassen sie sich einschalten.',
  'keys.everywhere': 'Überall',
  'keys.here': 'Auf dieser Seite',
  'keys.close': 'Das Oberste schließen',
} as const
