/** Texts of the tray of jobs. */
export const tray = {
  'tray.title': { one: '{count} job', other: '{count} jobs' },
  'tray.cancel': 'Cancel',
  'tray.by': 'by {email}',
  'tray.done': '{label} has ended',
  'tray.failed': '{label} has failed: {reason}',
  'tray.progress': '{done} of {total}',
  'job.waiting': 'waits',
  'job.delayed': 'waits',
  'job.active': 'runs',
  'job.completed': 'done',
  'job.failed': 'failed',
  'job.cancelled': 'cancelled',
} as const
