/**
 * The header that tells when figures are too low, for responses whose body has no field that tells.
 */
export const COMPLETE_HEADER = 'x-analytics-complete'

/** The description of this header, for the documentation. */
export const completeHeader = {
  'X-Analytics-Complete':
    '`false` while older events are still being counted, and the figures are too low; else absent',
}
