/** The overview of a project: the answer, the figures, and what they are made of. A new project has its first steps. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { useCall, useProjectId } from '../../api/queries.ts'
import { dayOf } from '../../logic/format.ts'
import {
  RANGE_PRESETS,
  readShownRange,
  toEmailRange,
  toRangeQuery,
  writeShownRange,
} from '../../logic/range.ts'
import { checks as checkTexts } from '../../text/en/checks.ts'
import { overview as overviewTexts } from '../../text/en/overview.ts'
import { addTexts, t } from '../../text/text.ts'
import { tick } from '../../ui/clock.ts'
import { useKeys } from '../../ui/keys.ts'
import { lazy } from '../../ui/lazy.tsx'
import { link } from '../../ui/link.ts'
import { keepSent, stepsOf, wantedSteps } from '../../ui/onboarding.ts'
import { Page } from '../../ui/page.tsx'
import { Loading } from '../../ui/state.tsx'
import { Suspense } from '../../ui/suspense.tsx'
import { place } from '../../ui/time.tsx'
import { Answers, headingText } from './answers.tsx'
import { Caps } from './caps.tsx'
import { useAnswer, useOverview } from './facts.ts'
import { Figures } from './figures.tsx'
import { MailByDay } from './mail-by-day.tsx'
import { Next } from './next.tsx'
import { RangeHead, RangePicker } from './range-picker.tsx'
import { Receivers } from './receivers.tsx'

addTexts(overviewTexts, checkTexts)

const Onboarding = lazy(() => import('../onboarding/onboarding.tsx'))

export default function Overview() {
  const id = useProjectId() ?? ''
  const [isNew, setNew] = useState<boolean>()
  const isWanted = wantedSteps.value === id
  const known = stepsOf(id)
  const isEnabled = known !== 'away' && !isWanted
  const setup = useCall('GET /projects/{id}/setup-state', { params: { id } }, { isEnabled })
  // An older answer says nothing: the project may have been reset since.
  const hasSent = setup.isFetching ? undefined : setup.data?.data.hasSentEmail
  useEffect(() => {
    if (hasSent === undefined || isNew === true) return
    // Decided once: the first mail must not take the page away from under its reader.
    setNew(!hasSent)
    keepSent(id, hasSent)
  }, [hasSent])
  if (isEnabled && known === undefined && isNew === undefined && setup.isFetching) {
    return (
      <Page title={t('nav.overview')}>
        <div class="body">
          <Loading />
        </div>
      </Page>
    )
  }
  if (isWanted || (known !== 'away' && (isNew ?? hasSent === false))) {
    return (
      <Suspense>
        <Onboarding />
      </Suspense>
    )
  }
  return <Mail />
}

function Mail() {
  const { query, route } = useLocation()
  const now = new Date(tick.value)
  const zone = place()
  const range = readShownRange(query, dayOf(now, zone.timeZone))
  const asked = toRangeQuery(range, now, zone)
  const days = toEmailRange(range, now, zone)
  const overview = useOverview(asked)
  const answer = useAnswer(overview.data?.current.sent)
  const heading = headingText(answer)
  useKeys(
    RANGE_PRESETS.map((preset, index) => ({
      key: String(index + 1),
      label: `${t('range.label')}: ${t(`range.${preset}`)}`,
      run: () => route(link('/') + writeShownRange({ preset })),
    })),
    [link('/')],
  )
  // The heading follows each part of the answer, the panels only the range.
  const panels = useMemo(
    () => (
      <>
        <Figures {...{ asked, range, days }} />
        <MailByDay asked={asked} />
        <div class="cols">
          <Receivers {...{ asked, days }} />
          <div>
            <Next />
            <Caps />
          </div>
        </div>
      </>
    ),
    [JSON.stringify([asked, range, days])],
  )
  return (
    <Page
      title={t('nav.overview')}
      heading={heading}
      text={<RangeHead range={range} at={overview.dataUpdatedAt} />}
      actions={<RangePicker range={range} />}
    >
      <div class="body">
        <Answers answer={answer} />
        {panels}
      </div>
    </Page>
  )
}
