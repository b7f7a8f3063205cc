/**
 * The gauges of `/metrics`: figures that are read at each scrape, in groups of `metrics/`. Counters are in
 * `counters.ts`, histograms in `histograms.ts`.
 */
import { backupGauges } from './backup/gauges.ts'
import type { Core } from './core.ts'
import { checkGauges } from './doctor/gauges.ts'
import type { Gauge } from './metrics/gauge.ts'
import { type QueueGaugeDeps, queueGauges } from './metrics/queue-gauges.ts'
import type { RecentOptions } from './metrics/recent.ts'
import { type ServerGaugeDeps, serverGauges } from './metrics/server-gauges.ts'
import { workGauges } from './metrics/work-gauges.ts'

export type GaugeDeps = QueueGaugeDeps & ServerGaugeDeps & Pick<Core, 'doctor'>

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
