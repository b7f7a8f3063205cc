/** The caps of the month that are set, and what is used of them. */
import { CAP_CATEGORIES } from '../../logic/answer.ts'
import { formatNumber } from '../../logic/format.ts'
import { locale, t } from '../../text/text.ts'
import { Panel } from '../../ui/panel.tsx'
import { RouteLine } from '../../ui/route-line.tsx'
import { useCaps } from './facts.ts'

const SHORT = { notation: 'compact', maximumSignificantDigits: 3 } as const

export function Caps() {
  const query = useCaps()
  return (
    <section class="section">
      <h2>{t('caps.title')}</h2>
      <Panel query={query} rows={2}>
        {(caps) => {
          const set = CAP_CATEGORIES.flatMap((category) => {
            const { limit, usage, percentage } = caps[category]
            return limit === null ? [] : [{ category, limit, usage, percentage }]
          })
          if (set.length === 0) return <p class="muted small">{t('caps.none')}</p>
          return (
            <>
              {set.map(({ category, limit, usage, percentage }) => (
                <div key={category} class="cap">
                  <p class="row between small">
                    <span>{t(`cap.${category}`)}</span>
                    <span
                      class="muted"
                      title={`${formatNumber(usage, locale())} / ${formatNumber(limit, locale())}`}
                    >
                      {t('caps.used', {
                        usage: formatNumber(usage, locale(), SHORT),
                        limit: formatNumber(limit, locale(), SHORT),
                      })}
                    </span>
                  </p>
                  <RouteLine
                    parts={[
                      {
                        tone: percentage >= 100 ? 'b' : percentage >= 80 ? 'w' : 'd',
                        value: Math.min(usage, limit),
                      },
                    ]}
                    whole={limit}
                    label={t('caps.line', { category: t(`cap.${category}`), percent: percentage })}
                  />
                </div>
              ))}
              <p class="muted xs">{t('caps.utc')}</p>
            </>
          )
        }}
      </Panel>
    </section>
  )
}
