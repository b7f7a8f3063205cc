/** Texts of suppressing an address, wherever that begins. */
export const suppress = {
  'action.suppress.title': '{to} sperren',
  'action.suppress.text':
    'Aus diesem Projekt geht an diese Adresse nichts mehr, bis jemand die Sperre aufhebt.',
  'action.suppress.do': 'Sperren',
  'action.failed': 'Nicht ausgeführt',
  'action.done.suppressed': 'Die Adresse ist gesperrt.',
  'action.done.wasSuppressed': 'Die Adresse war schon gesperrt. Sie behält ihren ersten Grund.',
} as const
