/** The entries of the feed as rows: what happened, to whom, and the thing that an entry leads to. */
import type { Tone } from './tone.ts'
import type { Fields } from './url-state.ts'

export type ActivityEntry = {
  id: string
  type: string
  timestamp: string
  contactEmail?: string
  contactId?: string
  metadata: Readonly<Record<string, unknown>>
}

/** The types that a person filters by, in the order of a life of an email. */
export const FILTER_TYPES = [
  ...['email.sent', 'email.delivered', 'email.opened', 'email.clicked', 'email.received'],
  ...['email.bounced', 'email.failed', 'email.suppressed', 'email.complaint'],
  ...['contact.subscribed', 'contact.unsubscribed'],
  ...['campaign.scheduled', 'campaign.sent', 'workflow.started', 'workflow.completed'],
  'event.triggered',
] as const

/** `entry`: the one whose drawer is open. */
export const ACTIVITY_FIELDS = {
  type: { kind: 'list', values: FILTER_TYPES },
  contact: { kind: 'text' },
  entry: { kind: 'text' },
} as const satisfies Fields

const TONES: Readonly<Record<string, Tone>> = {
  'email.delivered': 'good',
  'email.opened': 'good',
  'email.clicked': 'good',
  'email.received': 'good',
  'contact.subscribed': 'good',
  'campaign.sent': 'good',
  'workflow.completed': 'good',
  'email.bounced': 'bad',
  'email.failed': 'bad',
  'email.complaint': 'bad',
  'campaign.scheduled': 'live',
  'workflow.started': 'live',
  'workflow.execution.active': 'live',
  'workflow.email.scheduled': 'live',
}

export function toneOfEntry({ type, metadata }: ActivityEntry): Tone {
  if (type === 'workflow.completed' && metadata.status === 'FAILED') return 'bad'
  // A receiver that asks for patience has not refused anything.
  if (type === 'email.bounced' && metadata.transientBounce === true) return 'warn'
  return TONES[type] ?? 'off'
}

/** What the entry is about: the subject, or the name of the campaign, workflow or event. */
export function subjectOfEntry({ type, metadata }: ActivityEntry): string {
  const names = ['subject', 'campaignName', 'workflowName', 'name', 'eventName']
  const own = type === 'event.triggered' ? ['eventName'] : names
  const found = own
    .map((name) => metadata[name])
    .find((one) => typeof one === 'string' && one !== '')
  return typeof found === 'string' ? found : ''
}

/** The id of the email of the entry; undefined for an entry without one. */
export function emailOfEntry({ type, metadata }: ActivityEntry): string | undefined {
  const { emailId } = metadata
  return type.startsWith('email.') && typeof emailId === 'string' ? emailId : undefined
}

/** The facts of an entry, in the order of the server, without what the drawer shows elsewhere. */
export function factsOfEntry({ metadata }: ActivityEntry): (readonly [string, string])[] {
  const shownElsewhere = new Set(['subject', 'body', 'text', 'reason', 'reasonCode', 'reasonData'])
  return Object.entries(metadata).flatMap(([name, value]) => {
    if (shownElsewhere.has(name) || value === null || value === undefined || value === '') return []
    return [
      [name, typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value)] as const,
    ]
  })
}
