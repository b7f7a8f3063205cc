/** Texts of the tray of jobs. */
export const tray = {
  'tray.title': { one: '{count} Auftrag', other: '{count} Aufträge' },
  'tray.cancel': 'Abbrechen',
  'tray.by': 'von {email}',
  'tray.done': '{label} ist beendet',
  'tray.failed': '{label} ist fehlgeschlagen: {reason}',
  'tray.progress': '{done} von {total}',
  'job.waiting': 'wartet',
  'job.delayed': 'wartet',
  'job.active': 'läuft',
  'job.completed': 'fertig',
  'job.failed': 'fehlgeschlagen',
  'job.cancelled': 'abgebrochen',
} as const
