/** Texts of forms. */
export const form = {
  'form.failed': 'That did not work',
  'form.missing': 'Fill this in.',
  'form.email': 'This is no email address.',
  'form.url': 'This is no address such as https://mail.example.com.',
  'form.short': { one: 'At least {count} character.', other: 'At least {count} characters.' },
  'form.long': 'This is too long.',
  'form.other': 'This cannot be taken.',
  'form.saving': 'Saving',
  'form.saved': 'Saved',
  'form.next': 'Continue',
} as const
