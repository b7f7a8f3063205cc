/**
 * Counts of what happened since the start, for `/metrics`. They live in memory: Prometheus expects
 * counters to begin at zero with each process.
 */

type CounterText = { help: string; labelNames: readonly string[] }

/** Every counter of the program; `/metrics` shows all of them. */
export const counterTexts = {
  pillarbox_log_lines_suppressed_total: {
    help: 'Log lines left out because the same line was logged less than a minute before',
    labelNames: [],
  },
  pillarbox_template_faults_total: {
    help: 'Faults of templates that emails were sent in spite of, by the part of the message',
    labelNames: ['part'],
  },
} as const satisfies Record<string, CounterText>

export type CounterName = keyof typeof counterTexts

export type CounterLabels = Readonly<Record<string, string>>

export type Counters = {
  /** `labels`: a value for each of the counter's label names. */
  add(name: CounterName, labels?: CounterLabels, count?: number): void
  lines(name: CounterName): { labels: CounterLabels; count: number }[]
}

export function createCounters(): Counters {
  const counts = new Map<CounterName, Map<string, { labels: CounterLabels; count: number }>>()
  return {
    add(name, labels = {}, count = 1) {
      const lines = counts.get(name) ?? new Map()
      counts.set(name, lines)
      const key = counterTexts[name].labelNames.map((label) => labels[label]).join('\n')
      const line = lines.get(key)
      if (line === undefined) lines.set(key, { labels, count })
      else line.count += count
    },
    lines: (name) => [...(counts.get(name)?.values() ?? [])],
  }
}
