/**
 * The gauges of `/metrics`: figures that are read at each scrape. Counters are in `base/counters.ts`,
 * histograms in `base/histograms.ts`.
 */
import { backupGauges } from '../backup/gauges.ts'
import type { Doctor } from '../doctor/doctor.ts'
import { checkGauges } from '../doctor/gauges.ts'
import type { Gauge } from './gauge.ts'
import { type QueueGaugeDeps, queueGauges } from './queue-gauges.ts'
import type { RecentOptions } from './recent.ts'
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
