/**
 * Columns in which other services say whether a person gets mail. A filled cell of `subscribed`
 * decides alone. Without one, a column that says that the person left unsubscribes the contact of
 * the row, and a column that says that the person gets mail subscribes no existing contact.
 * Only names and words that cannot mean anything else count: a `status` may be that of an order. A
 * warning names other words, and says how to map the column.
 *
 * | kind           | example                    | the person left if the cell                            |
 * |----------------|----------------------------|--------------------------------------------------------|
 * | `subscribed`   | `subscribed`, or mapped    | has no word of those who get mail                      |
 * | `left`         | `UNSUB_TIME`, `opted out`  | has a text that is not a form of no                    |
 * | `subscription` | `subscription status`      | has no word of those who get mail                      |
 * | `flag`         | `subscribed_to_emails`     | is a form of no                                        |
 * | `status`       | `status`                   | has a word of those who left                           |
 * | `likely`       | `last unsub`, `abmelde-tag`| never: a warning names the column                      |
 *
 * Names and words are compared without case, blanks and punctuation. Only a `1` that stands alone
 * is a word of those who get mail: `-1`, `(1)` and `1%` are not, and no word after a minus is.
 *
 * A name of the kind `left` may be in any language of the hosted pages (translated-names.ts). A
 * name with a word of leaving in it is of the kind `likely`, and only warned about:
 * `Unsubscribe link expires` and `Abmeldefrist` have dates for everybody.
 *
 * `confirmed` is a flag beside columns of phpList. In other files it is read as a status, so a `no`
 * is unknown.
 */
import { isLikeLeaving, isNameOfLeaving } from './translated-names.ts'

export type StateKind = 'subscribed' | 'left' | 'subscription' | 'flag' | 'status' | 'likely'

/** `unknown` changes nothing and is worth a warning. */
export type StateReading = 'subscribed' | 'unsubscribed' | 'unchanged' | 'unknown'

const LEFT_COLUMNS = simplified([
  ...[
    'UNSUB_TIME',
    'UNSUB_REASON',
    'CLEAN_TIME',
    'unsubscribed',
    'is unsubscribed',
    'unsubscribed at',
  ],
  ...[
    'unsubscribed on',
    'unsubscribe date',
    'unsubscribed date',
    'date unsubscribed',
    'unsubscribe time',
  ],
  ...[
    'unsubscribe timestamp',
    'unsubscribe reason',
    'unsubscribed reason',
    'unsubscribed from all email',
  ],
  ...[
    'global unsubscribe',
    'globally unsubscribed',
    'opted out',
    'opt out',
    'opted out at',
    'opt out at',
  ],
  ...[
    'opt out date',
    'opt out time',
    'opted out of all email',
    'email opt out',
    'has opted out of email',
  ],
  ...['blacklisted', 'blocklisted', 'blacklist', 'blocklist', 'is blacklisted', 'is blocklisted'],
  ...[
    'email blacklisted',
    'email blocklisted',
    'email blacklist',
    'email disabled',
    'bounced',
    'bounced at',
  ],
  ...[
    'hard bounced',
    'complained',
    'complained at',
    'marked as spam',
    'do not email',
    'do not contact',
  ],
  ...['email suppressions', 'suppressed', 'suppressed at'],
  // The labels of phpList.
  ...['is this subscriber blacklisted', 'is this account disabled'],
])

const SUBSCRIPTION_COLUMNS = simplified([
  ...['subscription status', 'subscriber status', 'subscription state', 'subscriber type'],
  ...['email subscription status', 'newsletter status', 'email marketing consent'],
  ...['email marketing status', 'marketing status', 'email permission status', 'opt in status'],
])

const FLAG_COLUMNS = simplified([
  ...['subscribed to emails', 'is subscribed', 'email subscribed', 'accepts marketing'],
  ...['accepts email marketing', 'opt in', 'opted in', 'email opt in', 'marketing opt in'],
  ...['is this subscriber confirmed'],
])

/**
 * Columns of Mailchimp that stand beside its times of leaving: the times say who left, and these
 * columns only say why.
 */
const EXPLAINING_COLUMNS = simplified([
  ...['UNSUB_CAMPAIGN_TITLE', 'UNSUB_CAMPAIGN_ID', 'UNSUB_REASON', 'UNSUB_REASON_OTHER'],
  ...['CLEAN_CAMPAIGN_TITLE', 'CLEAN_CAMPAIGN_ID'],
])
const TIMES_OF_LEAVING: readonly string[] = ['unsubtime', 'cleantime']

/** A column of phpList; in other files, an order or a date may be confirmed. */
const CONFIRMED = 'confirmed'
/**
 * Columns that stand beside `confirmed` in a dump of phpList's tables; its exports have labels
 * instead.
 */
const PHPLIST_COLUMNS: readonly string[] = ['blacklisted', 'bouncecount', 'uniqid', 'htmlemail']
/**
 * A column of phpList that says whether the person confirmed by hand; people who were imported did
 * not, so it says nothing about who left.
 */
const OPTED_IN = 'optedin'

const STATUS_COLUMNS = simplified([
  ...['status', 'state', 'email status', 'contact status', 'member status', 'list status'],
  ...['global status', 'user status'],
])

const GOOD_WORDS = simplified([
  ...['true', '1', 'yes', 'subscribed', 'active', 'enabled', 'confirmed', 'opted in'],
])

/** Further words for people who get mail, in all columns but `subscribed`. */
const OTHER_GOOD_WORDS = simplified(['regular', 'premium', 'gifted', 'vip', 'y', 'on', 'ok'])

/** Words for no, and what programs write for an empty value. */
const NO_WORDS = simplified([
  ...['', 'false', '0', 'no', 'n', 'off', 'never', 'null', 'none', 'nil', 'n/a', '[]', '{}'],
  ...['0000-00-00', '0000-00-00 00:00:00'],
])

/**
 * Words for no in several languages, and what Brevo writes for people who want no text messages.
 */
const NOT_LEFT_WORDS = new Set([
  ...NO_WORDS,
  ...simplified([
    'nein',
    'non',
    'nee',
    'não',
    'nao',
    'nej',
    'nie',
    'ne',
    'не',
    'नहीं',
    '否',
    '未',
    'いいえ',
  ]),
  ...simplified(['na', 'nage', 'sms_marketing']),
])

const LEFT_WORDS = simplified([
  ...['unsubscribed', 'unsubscribe', 'unsub', 'opted out', 'opt out', 'blocklisted', 'blacklisted'],
  ...[
    'cleaned',
    'bounced',
    'bounce',
    'hard bounced',
    'hard bounce',
    'complained',
    'complaint',
    'spam',
  ],
  ...[
    'spam complaint',
    'marked as spam',
    'reported spam',
    'suppressed',
    'unreachable',
    'undeliverable',
  ],
  ...['not subscribed', 'non subscribed', 'never subscribed', 'globally unsubscribed'],
  ...['do not contact', 'do not email'],
])

/** Words that mean "left" only in a column of subscriptions. */
const OTHER_LEFT_WORDS = simplified([
  ...['disabled', 'inactive', 'cancelled', 'canceled', 'pending', 'unconfirmed', 'unactivated'],
  ...[
    'invalid',
    'deleted',
    'removed',
    'archived',
    'suspended',
    'blocked',
    'banned',
    'transactional',
  ],
])

/**
 * The columns by which an export of listmonk or Keila is recognized: their `status` is that of a
 * subscription.
 */
const KNOWN_EXPORTS: readonly (readonly string[])[] = [
  ['uuid', 'email', 'attributes', 'status'],
  ['email', 'firstname', 'lastname', 'status', 'externalid'],
  ['email', 'firstname', 'lastname', 'data', 'status'],
]

/** Returns what a column says by its name; `headers` are those of the file, simplified. */
export function stateKindOf(header: string, headers: ReadonlySet<string>): StateKind | undefined {
  const name = simplify(header)
  const hasTime = TIMES_OF_LEAVING.some((each) => headers.has(each))
  if (hasTime && EXPLAINING_COLUMNS.has(name)) return undefined
  if (LEFT_COLUMNS.has(name) || isNameOfLeaving(header)) return 'left'
  if (SUBSCRIPTION_COLUMNS.has(name)) return 'subscription'
  const isOfPhplist = PHPLIST_COLUMNS.some((each) => headers.has(each))
  if (name === OPTED_IN && isOfPhplist) return undefined
  if (FLAG_COLUMNS.has(name)) return 'flag'
  if (name === CONFIRMED) return isOfPhplist ? 'flag' : 'status'
  if (!STATUS_COLUMNS.has(name)) return isLikeLeaving(header) ? 'likely' : undefined
  const isOfExport = KNOWN_EXPORTS.some((names) => names.every((each) => headers.has(each)))
  return isOfExport && name === 'status' ? 'subscription' : 'status'
}

/**
 * Whether the name of a file of Mailchimp says that its people get no mail. An export of an audience is one
 * file for each state, and that of people who never subscribed has no column that says so.
 */
export function isFileOfPeopleWhoLeft(filename: string, headers: ReadonlySet<string>): boolean {
  const isOfMailchimp = headers.has('leid') && headers.has('euid')
  return (
    isOfMailchimp && /^(?:unsubscribed|cleaned|non[-_]?subscribed|transactional)_/i.test(filename)
  )
}

/** Reads a text that is not blank. */
export function readStateText(kind: StateKind, text: string): StateReading {
  const word = simplify(text)
  if (kind === 'left') return NOT_LEFT_WORDS.has(word) ? 'unchanged' : 'unsubscribed'
  if (kind === 'likely') return NOT_LEFT_WORDS.has(word) ? 'unchanged' : 'unknown'
  const isGood = (words: ReadonlySet<string>) => words.has(word) && !isChanged(text, word)
  if (kind === 'subscribed') return isGood(GOOD_WORDS) ? 'subscribed' : 'unsubscribed'
  if (isGood(GOOD_WORDS) || isGood(OTHER_GOOD_WORDS)) return 'unchanged'
  if (kind === 'subscription' || LEFT_WORDS.has(word)) return 'unsubscribed'
  if (kind === 'flag') return NO_WORDS.has(word) ? 'unsubscribed' : 'unknown'
  return 'unknown'
}

/** Whether the punctuation that `simplify` removed may have changed the meaning of the word. */
function isChanged(text: string, word: string): boolean {
  const trimmed = text.trim()
  return /^\p{Pd}/u.test(trimmed) || (/\d/.test(word) && trimmed !== word)
}

/** Whether a word commonly stands for people who do not get mail. */
export function isWordOfLeaving(text: string): boolean {
  const word = simplify(text)
  return NO_WORDS.has(word) || LEFT_WORDS.has(word) || OTHER_LEFT_WORDS.has(word)
}

/** Returns a name or a word in the form in which names and words are compared. */
export function simplify(text: string): string {
  return text.toLowerCase().replaceAll(/[\s\p{P}_]/gu, '')
}

function simplified(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(simplify))
}
