/** Texts of a field to choose one of many. */
export const combobox = {
  'combobox.open': 'Show the choices',
  'combobox.none': 'Nothing has this name.',
} as const
