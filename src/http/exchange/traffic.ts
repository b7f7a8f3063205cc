/**
 * Counts requests and their durations by route and status. The counts are plain numbers, because
 * every request adds to them and only scrapes read them.
 */
type TrafficLine = {
  method: string
  route: string
  status: number
  count: number
  totalMs: number
}

export type Traffic = {
  count(route: { method: string; path: string }, status: number, durationMs: number): void
  lines(): TrafficLine[]
}

/** Counts by route object. Routes are created once, so there is at most one line per route and status. */
export function createTraffic(): Traffic {
  const routes = new Map<{ method: string; path: string }, Map<number, TrafficLine>>()
  return {
    count: (route, status, durationMs) => {
      const statuses = routes.get(route) ?? new Map<number, TrafficLine>()
      const line = statuses.get(status) ?? emptyLine(route, status)
      line.count += 1
      line.totalMs += durationMs
      statuses.set(status, line)
      routes.set(route, statuses)
    },
    lines: () => [...routes.values()].flatMap((statuses) => [...statuses.values()]),
  }
}

function emptyLine(route: { method: string; path: string }, status: number): TrafficLine {
  return { method: route.method, route: route.path, status, count: 0, totalMs: 0 }
}
