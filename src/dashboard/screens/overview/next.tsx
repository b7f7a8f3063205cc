/** What is scheduled, soonest first. */
import { useCall } from '../../api/queries.ts'
import { shortTime } from '../../logic/format.ts'
import { listNextLines, type NextLine } from '../../logic/upcoming.ts'
import { t } from '../../text/text.ts'
import { Panel } from '../../ui/panel.tsx'
import { place } from '../../ui/time.tsx'
import { PANEL_MS } from './facts.ts'

/** The most that the call gives. */
const ASKED = 100
const SHOWN = 6

export function Next() {
  const query = useCall('GET /activity/upcoming', { query: { limit: ASKED } }, { poll: PANEL_MS })
  return (
    <section class="section">
      <h2>{t('next.title')}</h2>
      <Panel query={query} rows={3}>
        {({ activities }) => {
          const lines = listNextLines(activities).slice(0, SHOWN)
          if (lines.length === 0) return <p class="muted small">{t('next.none')}</p>
          return (
            <ol class="line small">
              {lines.map((line) => (
                <li key={line.id} class={line.kind === 'people' ? '' : 'next'}>
                  <p class="strong">{line.name}</p>
                  <p class="muted">{describe(line, activities.length >= ASKED)}</p>
                </li>
              ))}
            </ol>
          )
        }}
      </Panel>
    </section>
  )
}

/** `isCut`: there is more than the call gives, so that a count is the least. */
function describe(line: NextLine, isCut: boolean): string {
  const time = shortTime(line.first, new Date(), place())
  if (line.kind === 'campaign') {
    const { recipients } = line
    return recipients === 0
      ? t('next.campaign', { time })
      : t('next.campaign.to', { time, count: recipients })
  }
  const { count } = line
  if (line.kind === 'emails') {
    return t(isCut ? 'next.workflow.many' : 'next.workflow', { count, time })
  }
  return t(isCut ? 'next.active.many' : 'next.active', { count })
}
