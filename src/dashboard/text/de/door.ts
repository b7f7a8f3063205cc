/** Texts of signing in and signing up. */
export const door = {
  'door.languages': 'Sprache',
  'door.signIn': 'Anmelden',
  'door.address': 'Adresse',
  'door.address.hint': 'Dorthin geht eine Mail, mit der du sie bestätigst.',
  'door.password': 'Passwort',
  'door.forgotten': 'Vergessen?',
  'door.wrong': 'Die Mailadresse oder das Passwort ist falsch.',
  'door.code': 'Code',
  'door.code.hint': 'Sechs Ziffern deiner Authenticator-App oder ein Wiederherstellungscode.',
  'door.code.wrong': 'Dieser Code ist falsch oder wurde schon benutzt.',
  'door.back': 'Zurück',
  'door.or': 'oder',
  'door.with': 'Weiter mit {provider}',
  'door.invited': 'Konten entstehen durch Einladung. Frage einen Inhaber deines Projekts.',
  'door.makeAccount': 'Konto anlegen',
  'door.haveAccount': 'Du hast ein Konto?',
  'door.toSignIn': 'Zurück zur Anmeldung',
  'door.closed':
    'Dieser Server nimmt von sich aus keine neuen Konten an. Bitte einen Inhaber deines Projekts um eine Einladung oder den Betreiber dieses Servers um ein Konto.',
  'door.unverified': 'Bestätige deine Adresse',
  'door.unverified.text':
    'Eine Mail mit einem Link ist unterwegs an {email}. Öffne den Link, und diese Seite geht weiter.',
  'door.unverified.resend': 'Noch eine Mail schicken',
  'door.unverified.sent': 'Noch eine Mail ist unterwegs.',
  'door.unverified.done': 'Ich habe den Link geöffnet',
  'door.forgot': 'Neues Passwort wählen',
  'door.forgot.hint': 'Dorthin geht eine Mail mit einem Link. Der Link gilt eine Stunde.',
  'door.forgot.send': 'Link schicken',
  'door.forgot.sent': 'Sieh in deine Mails',
  'door.forgot.sent.text':
    'Wenn {email} hier ein Konto mit Passwort hat, ist eine Mail mit einem Link unterwegs.',
  'door.forgot.none':
    'Keine Mail? Sieh im Spamordner nach. Nicht jeder Server schreibt seinen Benutzern: der Betreiber kann dir ein neues Passwort geben.',
  'door.again': 'Melde dich erneut an',
  'door.again.text':
    'Deine Sitzung ist zu Ende. Melde dich an, und diese Seite geht weiter, wo sie war: nichts Getipptes geht verloren.',
  'door.again.tab': 'Die Anmeldung öffnet sich in einem anderen Tab. Komm danach hierher zurück.',
  'door.again.done': 'Ich habe mich angemeldet',
  'door.again.notYet': 'Du bist noch nicht angemeldet',
  'door.failure.access_denied':
    'Du hast die Anmeldung abgebrochen, oder der Anbieter hat sie abgelehnt.',
  'door.failure.state_mismatch':
    'Diese Anmeldung wurde nicht in diesem Browser begonnen oder schon benutzt. Melde dich noch einmal an.',
  'door.failure.expired': 'Die Anmeldung hat zu lange gedauert. Melde dich noch einmal an.',
  'door.failure.email_unverified':
    'Dein Konto beim Anbieter hat keine bestätigte Mailadresse. Bestätige sie dort und melde dich noch einmal an.',
  'door.failure.method_mismatch':
    'Deine Mailadresse hat hier schon ein Konto mit einer anderen Art der Anmeldung. Benutze diese.',
  'door.failure.signup_disabled':
    'Du hast hier kein Konto, und neue Konten sind nicht erlaubt. Wende dich an den Betreiber dieses Servers.',
  'door.failure.setup_needed':
    'Dieser Server ist noch nicht eingerichtet. Sein erster Benutzer entsteht mit dem Link zur Einrichtung.',
  'door.failure.address_refused':
    'Neue Konten können deine Mailadresse nicht haben: Sie ist eine Wegwerfadresse, enthält ein Pluszeichen, oder ihre Domain empfängt keine Mails.',
  'door.failure.provider_error':
    'Der Anbieter hat nicht richtig geantwortet. Versuche es gleich noch einmal.',
  'door.failure.too_many_attempts':
    'Aus deinem Netz kamen zu viele Anmeldungen. Warte eine Minute.',
  'door.failure.unavailable':
    'Dieser Server kann dich im Moment nicht anmelden. Versuche es später noch einmal.',
  'door.failure.other': 'Die Anmeldung ist fehlgeschlagen. Versuche es noch einmal.',
} as const
