/** Texts of a project that is being reset. */
export const resettingTexts = {
  'resetting.title': 'Dieses Projekt wird zurückgesetzt',
  'resetting.text':
    'Kontakte, Mails und Kampagnen werden gelöscht. Danach öffnet sich die Seite wieder.',
} as const
