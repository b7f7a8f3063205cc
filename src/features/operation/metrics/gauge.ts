/**
 * A figure that is read at each scrape: one value, or one for each set of labels. A read is cheap: figures that
 * take a scan come from `recent.ts`. Labels follow the rule in `counters.ts`.
 */
export type Gauge = {
  /** `pillarbox_queue_emails` */
  name: string
  help: string
  labelNames?: readonly string[]
  /** A `counter` only rises; its name ends in `_total`. */
  type?: 'gauge' | 'counter'
  read(): GaugeValue[] | Promise<GaugeValue[]>
}

export type GaugeValue = { value: number; labels?: Record<string, string> }

/** One value for each state, also for those that nothing is in. */
export function byState(counts: Readonly<Record<string, number>>): GaugeValue[] {
  return Object.entries(counts).map(([state, value]) => ({ value, labels: { state } }))
}
