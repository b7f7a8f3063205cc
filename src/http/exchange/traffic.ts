/**
 * How many requests each route had, by status, and the time they took: plain numbers, since they
 * are counted on every request and read once in a while.
 */
export type TrafficLine = {
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

/** Counts by route object: routes are made once, so there are no more lines than routes x statuses. */
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
