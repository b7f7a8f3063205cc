/** Texts of forms. */
export const form = {
  'form.failed': 'Das hat nicht geklappt',
  'form.missing': 'Bitte ausfüllen.',
  'form.email': 'Das ist keine Mailadresse.',
  'form.url': 'Das ist keine Adresse wie https://mail.example.com.',
  'form.short': { one: 'Mindestens {count} Zeichen.', other: 'Mindestens {count} Zeichen.' },
  'form.long': 'Das ist zu lang.',
  'form.other': 'Das geht hier nicht.',
  'form.saving': 'Wird gespeichert',
  'form.saved': 'Gespeichert',
  'form.next': 'Weiter',
} as const
