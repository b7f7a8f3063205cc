/** Texts of those parts of the list of emails that are loaded on demand. */
export const parts = {
  'emails.domain': 'Domain der Adresse',
  'emails.from': 'Von',
  'emails.until': 'Bis',
  'emails.zone': 'Tage in {zone}',
  'emails.empty': 'Noch keine Mail',
  'emails.empty.text':
    'Hier steht eine Mail, sobald ein Programm, eine Kampagne oder ein Workflow sie gesendet hat.',
  'emails.empty.key': 'Der geheime Schlüssel des Projekts steht unter API und SMTP.',
} as const
