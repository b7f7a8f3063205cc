/** What the replies of receivers mean, by the classes of bounces. */
export const classes = {
  'class.accepted': 'Accepted',
  'class.hard': 'No such address',
  'class.disabled': 'Mailbox disabled',
  'class.quota': 'Mailbox full',
  'class.too_fast': 'Too much for the mailbox',
  'class.greylist': 'Greylisting',
  'class.throttle': 'Rate limit',
  'class.connections': 'Too many connections',
  'class.session': 'Session limit',
  'class.block': 'Server blocked',
  'class.policy': 'Refused by policy',
  'class.content': 'Content refused',
  'class.size': 'Too large',
  'class.syntax': 'Not understood',
  'class.network': 'Not reached',
  'class.dns': 'Not found in the DNS',
  'class.unknown': 'Unknown reply',
  'meaning.accepted': 'The receiver has taken the responsibility for the email.',
  'meaning.hard': 'The address does not exist there. It is not tried again.',
  'meaning.disabled': 'The mailbox exists and is switched off.',
  'meaning.quota': 'The mailbox is full. It often helps to try later.',
  'meaning.too_fast':
    'The mailbox gets more mail than it takes at a time. It is tried again in an hour.',
  'meaning.greylist':
    'The receiver asks unknown senders to come again. The next attempt usually succeeds.',
  'meaning.throttle':
    'The receiver takes less from this server for a while. It says nothing about the address or the text.',
  'meaning.connections':
    'The receiver wants fewer connections at a time. The server opens fewer now.',
  'meaning.session': 'The receiver takes only some emails over one connection.',
  'meaning.block':
    'The receiver refuses the IP address of this server. The checks of the server may show why.',
  'meaning.policy':
    'The receiver refuses the sender: often for SPF, DKIM or DMARC, or for a list of its own.',
  'meaning.content': 'The receiver takes the text for spam or harmful.',
  'meaning.size': 'The email is larger than the receiver takes.',
  'meaning.syntax': 'The receiver did not accept a command or a header field.',
  'meaning.network': 'No connection came about, or it broke. It says nothing about the address.',
  'meaning.dns': 'The DNS did not answer, or names no server for the domain.',
  'meaning.unknown':
    'The reply has no known meaning. Its first digit alone decides what happens next.',
} as const
