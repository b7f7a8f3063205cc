/** Texts of those parts of the list of emails that are loaded on demand. */
export const parts = {
  'emails.domain': 'Domain of the address',
  'emails.from': 'From',
  'emails.until': 'Until',
  'emails.zone': 'Days of {zone}',
  'emails.empty': 'No mail yet',
  'emails.empty.text':
    'An email stands here as soon as a program, a campaign or a workflow has sent it.',
  'emails.empty.key': 'The secret key of the project stands under API and SMTP.',
} as const
