/** Texts of charts. */
export const chart = {
  'chart.table': 'Als Tabelle zeigen',
  'chart.picture': 'Als Bild zeigen',
  'chart.unknown': 'unbekannt',
} as const
