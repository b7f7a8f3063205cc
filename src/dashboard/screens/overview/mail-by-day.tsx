/** The mail of the range by days or hours: campaigns on other mail, or all against the range before. */
import { useState } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import { useCall } from '../../api/queries.ts'
import { namePoints, splitByKind } from '../../logic/mail-points.ts'
import { locale, t } from '../../text/text.ts'
import type { ChartSeriesProps } from '../../ui/chart.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Suspense } from '../../ui/suspense.tsx'
import { place } from '../../ui/time.tsx'
import { PANEL_MS } from './facts.ts'

const Chart = lazy(() => import('../../ui/chart.tsx'))

const VIEWS = ['kinds', 'compare'] as const
type View = (typeof VIEWS)[number]

type MailByDayProps = {
  asked: { from: string; to: string; tz: string }
  /** Whether the range has campaign mail, which then is asked for apart. */
  hasCampaigns: boolean
}

export function MailByDay({ asked, hasCampaigns }: MailByDayProps) {
  const [view, setView] = useState<View>('kinds')
  const options = { poll: PANEL_MS, keep: true }
  const all = useCall('GET /analytics/timeseries', { query: asked }, options)
  const campaigns = useCall(
    'GET /analytics/timeseries',
    { query: { ...asked, stream: 'CAMPAIGN' } },
    { ...options, isEnabled: hasCampaigns },
  )
  const isByHour = series(all.data)?.granularity === 'hour'
  return (
    <section class="section plain">
      <div class="row between">
        <h2>{t(isByHour ? 'byhour.title' : 'byday.title')}</h2>
        <fieldset class="seg text">
          <legend class="sr">{t('byday.view')}</legend>
          {VIEWS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={view === one}
              onClick={() => setView(one)}
            >
              {t(`byday.${one}`)}
            </button>
          ))}
        </fieldset>
      </div>
      <Panel query={all} rows={5}>
        {(answer) => {
          const { current, previous } = series(answer) ?? { current: [], previous: [] }
          const points = namePoints(current, { locale: locale() })
          const sum = (list: readonly { sent: number }[]) =>
            list.reduce((total, { sent }) => total + sent, 0)
          const total = sum(current)
          const top = current.reduce(
            (best, { sent }, index) => (sent > (current[best]?.sent ?? 0) ? index : best),
            0,
          )
          const ofCampaigns = hasCampaigns
            ? series(campaigns.data)?.current
            : current.map(() => ({ sent: 0 }))
          const kinds = splitByKind(current, ofCampaigns)
          const shown: ChartSeriesProps[] =
            view === 'kinds'
              ? [
                  { key: 'rest', label: t('byday.rest'), values: kinds.rest, tone: 2 },
                  {
                    key: 'campaigns',
                    label: t('byday.campaigns'),
                    values: kinds.campaigns,
                    tone: 1,
                  },
                ]
              : [
                  {
                    key: 'now',
                    label: t('byday.now'),
                    values: current.map(({ sent }) => sent),
                    tone: 1,
                  },
                  {
                    key: 'before',
                    label: t('byday.before'),
                    values: current.map((_, index) => previous[index]?.sent ?? null),
                    tone: 2,
                  },
                ]
          const number = (value: number) => value.toLocaleString(locale())
          const caption =
            total === 0 && view === 'kinds'
              ? t('byday.nothing')
              : view === 'kinds'
                ? t('byday.caption', {
                    ...{ count: total, peak: points[top]?.title ?? '' },
                    value: current[top]?.sent ?? 0,
                  })
                : t('byday.compared', { now: number(total), before: number(sum(previous)) })
          return (
            <div class="chart-place">
              <Suspense>
                <Chart
                  kind={view === 'kinds' ? 'bars' : 'line'}
                  caption={caption}
                  series={shown}
                  points={points}
                  pointHead={t(isByHour ? 'byday.hour' : 'byday.day')}
                />
              </Suspense>
            </div>
          )
        }}
      </Panel>
      <p class="muted xs">{t('byday.zone', { zone: place().timeZone.replaceAll('_', ' ') })}</p>
    </section>
  )
}

type Series = {
  granularity: 'hour' | 'day'
  current: readonly { date?: string; at?: string; sent: number }[]
  previous: readonly { sent: number }[]
}

/** With `from`, the call answers a series; older clients get a list of days. */
function series(answer: unknown): Series | undefined {
  return Array.isArray(answer) ? undefined : (answer as Series | undefined)
}
