/** What the replies of receivers mean, by the classes of bounces. */
export const classes = {
  'class.accepted': 'Angenommen',
  'class.hard': 'Adresse unbekannt',
  'class.disabled': 'Postfach abgeschaltet',
  'class.quota': 'Postfach voll',
  'class.too_fast': 'Zu viel für das Postfach',
  'class.greylist': 'Greylisting',
  'class.throttle': 'Ratenbegrenzung',
  'class.connections': 'Zu viele Verbindungen',
  'class.session': 'Grenze der Sitzung',
  'class.block': 'Server abgelehnt',
  'class.policy': 'Nach Regeln abgelehnt',
  'class.content': 'Inhalt abgelehnt',
  'class.size': 'Zu groß',
  'class.syntax': 'Nicht verstanden',
  'class.network': 'Nicht erreicht',
  'class.dns': 'Nicht im DNS gefunden',
  'class.unknown': 'Unbekannte Antwort',
  'meaning.accepted': 'Der Empfänger hat die Verantwortung für die Mail übernommen.',
  'meaning.hard': 'Die Adresse gibt es dort nicht. Es folgt kein weiterer Versuch.',
  'meaning.disabled': 'Das Postfach besteht, ist aber abgeschaltet.',
  'meaning.quota': 'Das Postfach ist voll. Später gelingt es oft.',
  'meaning.too_fast':
    'Das Postfach bekommt mehr Mail, als es auf einmal annimmt. Der nächste Versuch folgt in einer Stunde.',
  'meaning.greylist':
    'Der Empfänger bittet unbekannte Absender, noch einmal zu kommen. Der nächste Versuch gelingt meistens.',
  'meaning.throttle':
    'Der Empfänger nimmt von diesem Server eine Zeit lang weniger an. Über Adresse und Text sagt das nichts.',
  'meaning.connections':
    'Der Empfänger will weniger Verbindungen zugleich. Der Server öffnet jetzt weniger.',
  'meaning.session': 'Der Empfänger nimmt über eine Verbindung nur einige Mails an.',
  'meaning.block':
    'Der Empfänger lehnt die IP-Adresse dieses Servers ab. Die Prüfungen des Servers zeigen vielleicht den Grund.',
  'meaning.policy':
    'Der Empfänger lehnt den Absender ab: oft wegen SPF, DKIM oder DMARC, oder wegen einer eigenen Liste.',
  'meaning.content': 'Der Empfänger hält den Text für Spam oder für schädlich.',
  'meaning.size': 'Die Mail ist größer, als der Empfänger sie annimmt.',
  'meaning.syntax': 'Der Empfänger nahm einen Befehl oder eine Kopfzeile nicht an.',
  'meaning.network':
    'Es kam keine Verbindung zustande, oder sie brach ab. Über die Adresse sagt das nichts.',
  'meaning.dns': 'Das DNS antwortet nicht oder nennt keinen Server für die Domain.',
  'meaning.unknown':
    'Die Antwort hat keine bekannte Bedeutung. Nur ihre erste Ziffer entscheidet, was folgt.',
} as const
