/** The header that tells when figures are too low, for bodies that have no place for it. */
export const COMPLETE_HEADER = 'x-analytics-complete'

/** Its description, for the documentation. */
export const completeHeader = {
  'X-Analytics-Complete':
    '`false` while older events are still being counted, and the figures are too low; else absent',
}
