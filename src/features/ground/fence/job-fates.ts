/**
 * What a fence does with the jobs that exist: those whose effects leave the server are held, also the
 * indirect ones (contacts that change make events, which start workflows and webhooks). The others run:
 * they delete, count, or look. Kinds by their names in the database; a test compares them with the table
 * of jobs.
 */
export type JobFate = 'held' | 'runs'

export const JOB_FATES: Readonly<Record<string, JobFate>> = {
  // They tell people, Stripe or other servers.
  'platform-mail': 'held',
  'cancel-subscription': 'held',
  'replay-webhooks': 'held',
  // They start executions, or make events that do.
  'start-executions': 'held',
  import: 'held',
  bulk: 'held',
  // They change rows of this server only, and make no events.
  'suppressions-import': 'runs',
  'delete-field': 'runs',
  'delete-events': 'runs',
  'clear-segment': 'runs',
  'erase-workflows': 'runs',
  'clear-webhook-endpoint': 'runs',
  'reset-project': 'runs',
  'delete-project': 'runs',
  // They ask the DNS, and nobody is told of the answers but those who look. What a check of a domain
  // finds is new, and so is the mail about it.
  'verify-list': 'runs',
  'check-domains': 'runs',
  'recheck-domains': 'runs',
  'check-platform-mail': 'runs',
  // It passes over the segments of fenced projects whose members make events.
  'refresh-segments': 'runs',
  // Retention, which keeps what is held, and counts.
  'lapse-domain-claims': 'runs',
  'delete-old-requests': 'runs',
  'clear-old-bodies': 'runs',
  'sweep-idempotency-keys': 'runs',
  'sweep-sessions': 'runs',
  'sweep-chunks': 'runs',
  'sweep-uploads': 'runs',
  'sweep-images': 'runs',
  'forget-notifications': 'runs',
  'delete-old-arrivals': 'runs',
  'delete-old-invitations': 'runs',
  'delete-old-link-ids': 'runs',
  'delete-old-reputation': 'runs',
  'delete-old-quarters': 'runs',
  'delete-old-strikes': 'runs',
  'delete-old-billing': 'runs',
  'delete-old-webhooks': 'runs',
  'delete-seen-changes': 'runs',
  'count-recipients': 'runs',
  'resume-erasures': 'runs',
  'trim-sandbox': 'runs',
}

/** The kinds whose jobs a fence holds. */
export const HELD_KINDS: readonly string[] = Object.entries(JOB_FATES).flatMap(([kind, fate]) =>
  fate === 'held' ? [kind] : [],
)
