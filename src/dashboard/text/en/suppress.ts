/** Texts of suppressing an address, wherever that begins. */
export const suppress = {
  'action.suppress.title': 'Suppress {to}',
  'action.suppress.text':
    'Nothing is sent to this address from this project any more, until somebody lifts the suppression.',
  'action.suppress.do': 'Suppress',
  'action.failed': 'Not done',
  'action.done.suppressed': 'The address is suppressed.',
  'action.done.wasSuppressed': 'The address was suppressed before. It keeps its first reason.',
} as const
