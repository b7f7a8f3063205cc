/**
 * What the server says in English by itself, by its codes. English pages show its own words, so only translations load
 * such texts. The labels of jobs have what they name after three words.
 */
export const spoken = {
  'failed.PROJECT_DISABLED': 'The project is disabled.',
  'failed.RESOURCE_NOT_FOUND': 'It does not exist any more.',
  'failed.EMAIL_VERIFICATION_REQUIRED': 'Your address is not verified yet.',
  'failed.BILLING_LIMIT_EXCEEDED': 'The limit of the month is reached.',
  'failed.REQUEST_TIMEOUT': 'The request took too long. Nothing was accepted.',
  'failed.PAYLOAD_TOO_LARGE': 'The request is too large.',
  'failed.DATABASE_ERROR': 'Nothing was accepted. Try again in a moment.',
  'failed.INSUFFICIENT_STORAGE': 'Nothing was accepted: the disk of the server is nearly full.',
  'work.import': 'Import contacts from {name}',
  'work.suppressions-import': 'Import suppressions from {name}',
  'work.bulk-subscribe': 'Subscribe contacts',
  'work.bulk-unsubscribe': 'Unsubscribe contacts',
  'work.bulk-delete': 'Delete contacts',
  'work.delete-field': 'Delete the field {name}',
  'work.delete-events': 'Delete the events {name}',
  'work.verify': 'Verify addresses',
  'work.bulk-start': 'Start executions of a workflow',
  'work.replay-webhooks': 'Send the events of a span of time to a webhook again',
} as const
