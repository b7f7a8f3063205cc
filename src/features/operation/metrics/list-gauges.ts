/**
 * The gauges of `/metrics`: figures that are read at each scrape. Counters are in `base/counters.ts`,
 * histograms in `base/histograms.ts`.
 */
import { backupGauges } from '../backup/record.ts'
import { checkGauges, type Doctor } from '../doctor/doctor.ts'
import type { Gauge, RecentOptions } from './gauge.ts'
import { type QueueGaugeDeps, queueGauges } from './queue-gauges.ts'
import { type ServerGaugeDeps, serverGauges } from './server-gauges.ts'
import { workGauges } from './work-gauges.ts'

export type GaugeDeps = QueueGaugeDeps & ServerGaugeDeps & { doctor: Doctor }

/** `options`: for tests, how old figures of scans may be. */
export function listGauges(core: GaugeDeps, options?: RecentOptions): Gauge[] {
  return [
    ...queueGauges(core, options),
    ...workGauges(core, options),
    ...serverGauges(core),
    ...backupGauges(core),
    ...checkGauges(core),
  ]
}
