import type { TestContext } from 'node:test'

/** From now on an hour passes between two looks at `performance.now`, until `end`. */
export function leapingClock(t: TestContext): { end(): void } {
  const now = performance.now.bind(performance)
  let aheadMs = 0
  let leapMs = 3_600_000
  t.mock.method(performance, 'now', () => {
    aheadMs += leapMs
    return now() + aheadMs
  })
  return {
    end() {
      leapMs = 0
    },
  }
}
