/** Texts of charts. */
export const chart = {
  'chart.table': 'Show as table',
  'chart.picture': 'Show as picture',
  'chart.unknown': 'unknown',
} as const
