/**
 * Counts requests and sums their durations by route. The figures are plain numbers, because every request adds
 * to them and only scrapes read them. The statuses are counted for all routes together
 * (`pillarbox_http_responses_total`): with one line per route and status there would be thousands.
 */
type RouteName = { method: string; path: string }

type TrafficLine = { method: string; route: string; count: number; totalMs: number }

export type Traffic = {
  count(route: RouteName, durationMs: number): void
  lines(): TrafficLine[]
}

/** Counts by route object: each route is created once, so it has one line at most. */
export function createTraffic(): Traffic {
  const routes = new Map<RouteName, TrafficLine>()
  return {
    count(route, durationMs) {
      const line = routes.get(route) ?? addLine(routes, route)
      line.count += 1
      line.totalMs += durationMs
    },
    lines: () => [...routes.values()],
  }
}

function addLine(routes: Map<RouteName, TrafficLine>, route: RouteName): TrafficLine {
  const line = { method: route.method, route: route.path, count: 0, totalMs: 0 }
  routes.set(route, line)
  return line
}
