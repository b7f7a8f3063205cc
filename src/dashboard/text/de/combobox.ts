/** Texts of a field to choose one of many. */
export const combobox = {
  'combobox.open': 'Auswahl zeigen',
  'combobox.none': 'Nichts heißt so.',
} as const
