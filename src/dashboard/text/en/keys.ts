/** Texts of the list of keys. */
export const keys = {
  'keys.single': 'Single keys are off; turn them on in your account.',
  'keys.everywhere': 'Everywhere',
  'keys.here': 'On this page',
  'keys.close': 'Close what is on top',
} as const
