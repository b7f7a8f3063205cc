/** The mail of the range by days or hours: campaigns on other mail, or all against the range before. */
import { useState } from 'preact/hooks'
import { failureOf, useCall } from '../../api/queries.ts'
import { formatNumber } from '../../logic/format.ts'
import { namePoints, splitByKind } from '../../logic/mail-points.ts'
import { locale, t } from '../../text/text.ts'
import type { ChartProps } from '../../ui/chart-props.ts'
import { lazy } from '../../ui/lazy.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Failed } from '../../ui/state.tsx'
import { Suspense } from '../../ui/suspense.tsx'
import { place } from '../../ui/time.tsx'
import { type AskedRange, type Overview, PANEL_MS, useOverview } from './facts.ts'

const Chart = lazy(() => import('../../ui/chart.tsx'))

const VIEWS = ['kinds', 'compare'] as const
type View = (typeof VIEWS)[number]

type Point = { date?: string; at?: string; sent: number }
type Series = { granularity: 'hour' | 'day'; current: readonly Point[]; previous: readonly Point[] }

export function MailByDay({ asked }: { asked: AskedRange }) {
  const [view, setView] = useState<View>('kinds')
  const options = { poll: PANEL_MS, keep: true }
  // Campaign mail is asked for apart, where the range has some.
  const hasCampaigns = useOverview(asked).data?.streams.some(isSentCampaign) ?? false
  const all = useCall('GET /analytics/timeseries', { query: asked }, options)
  const campaigns = useCall(
    'GET /analytics/timeseries',
    { query: { ...asked, stream: 'CAMPAIGN' } },
    { ...options, isEnabled: hasCampaigns },
  )
  const split = hasCampaigns ? failureOf(campaigns) : null
  const isByHour = toSeries(all.data).granularity === 'hour'
  return (
    <section class="section unlined">
      <div class="row between">
        <h2>{t(isByHour ? 'byhour.title' : 'byday.title')}</h2>
        <ViewPicker view={view} onPick={setView} />
      </div>
      {split !== null && (
        <Failed
          error={split}
          asOf={campaigns.dataUpdatedAt}
          onRetry={() => void campaigns.refetch()}
        />
      )}
      <Panel query={all} rows={6}>
        {(answer) => {
          const series = toSeries(answer)
          const shown =
            view === 'compare'
              ? compare(series)
              : hasCampaigns
                ? byKind(series, toSeries(campaigns.data).current)
                : inOne(series)
          return (
            <div class="chart-place">
              <Suspense>
                <Chart
                  {...shown}
                  points={namePoints(series.current, { locale: locale() })}
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

function isSentCampaign({ stream, sent }: Overview['streams'][number]): boolean {
  return stream === 'CAMPAIGN' && sent > 0
}

function ViewPicker({ view, onPick }: { view: View; onPick(view: View): void }) {
  return (
    <fieldset class="seg text">
      <legend class="sr">{t('byday.view')}</legend>
      {VIEWS.map((one) => (
        <button key={one} type="button" aria-pressed={view === one} onClick={() => onPick(one)}>
          {t(`byday.${one}`)}
        </button>
      ))}
    </fieldset>
  )
}

type Shown = Pick<ChartProps, 'kind' | 'caption' | 'series'>

function inOne({ current }: Series): Shown {
  const series = [
    { key: 'rest', label: t('byday.rest'), values: sentOf(current), tone: 2 } as const,
  ]
  return { kind: 'bars', caption: captionOf(current), series }
}

/** `campaigns`: empty while the answer is awaited; the split is unknown until then. */
function byKind({ current }: Series, campaigns: readonly Point[]): Shown {
  const kinds = splitByKind(current, campaigns)
  return {
    kind: 'bars',
    caption: captionOf(current),
    series: [
      { key: 'rest', label: t('byday.rest'), values: kinds.rest, tone: 2 },
      { key: 'campaigns', label: t('byday.campaigns'), values: kinds.campaigns, tone: 1 },
    ],
  }
}

function compare({ current, previous }: Series): Shown {
  const before = current.map((_, index) => previous[index]?.sent ?? null)
  const number = (points: readonly Point[]) => formatNumber(sumOf(points), locale())
  return {
    kind: 'line',
    caption: t('byday.compared', { now: number(current), before: number(previous) }),
    series: [
      { key: 'now', label: t('byday.now'), values: sentOf(current), tone: 1 },
      { key: 'before', label: t('byday.before'), values: before, tone: 2 },
    ],
  }
}

function captionOf(points: readonly Point[]): string {
  const count = sumOf(points)
  if (count === 0) return t('byday.nothing')
  const value = Math.max(...sentOf(points))
  const top = points.filter(({ sent }) => sent === value).slice(0, 1)
  const [peak] = namePoints(top, { locale: locale() })
  return t('byday.caption', { count, peak: peak?.title ?? '', value })
}

function sentOf(points: readonly Point[]): number[] {
  return points.map(({ sent }) => sent)
}

function sumOf(points: readonly Point[]): number {
  return points.reduce((sum, { sent }) => sum + sent, 0)
}

/** With `from`, the call answers a series; older clients get a list of days. */
function toSeries(answer: unknown): Series {
  if (answer === undefined || Array.isArray(answer)) {
    return { granularity: 'day', current: [], previous: [] }
  }
  return answer as Series
}
