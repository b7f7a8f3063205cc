/** Texts of a project that is being reset. */
export const resettingTexts = {
  'resetting.title': 'This project is being reset',
  'resetting.text':
    'Contacts, emails and campaigns are being deleted. The page opens again when that has ended.',
} as const
