/** The jobs of the project that run, in a corner of every page: a reload or another page loses none of them. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Answer, type ApiFailure, call } from '../api/client.ts'
import { failureOf, queryClient, useCall } from '../api/queries.ts'
import { projectWith } from '../api/session.ts'
import { findEnded, isEnded, jobDelay, nameInLabel } from '../logic/jobs.ts'
import { tray as trayTexts } from '../text/en/tray.ts'
import { addTexts, codeText, t } from '../text/text.ts'
import { Failed } from './state.tsx'
import { toast } from './toast.tsx'
import { whyNot } from './why-not.ts'

addTexts(trayTexts)

type ListedJob = Answer<'GET /jobs'>['data'][number]

const LIST = 'GET /jobs'

export function Tray({ project }: { project: string }) {
  const asked = useRef(0)
  const known = useRef<readonly ListedJob[] | undefined>(undefined)
  const [delay, setDelay] = useState(jobDelay([], 0))
  const query = useCall(LIST, { project }, { poll: delay })
  const { data, dataUpdatedAt, refetch } = query
  const failure = failureOf(query)
  const jobs = data?.data
  useEffect(() => {
    if (jobs === undefined) return
    const ended = findEnded(known.current, jobs)
    for (const job of ended) tell(job)
    // What a job changed is on the page, perhaps.
    if (ended.length > 0)
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== LIST })
    known.current = jobs
    asked.current += 1
    setDelay(jobDelay(jobs, asked.current))
  }, [dataUpdatedAt])
  const running = jobs?.filter((job) => !isEnded(job)) ?? []
  if (running.length === 0) return null
  return (
    <aside class="tray" aria-label={t('tray.title', { count: running.length })}>
      <details open>
        <summary>{t('tray.title', { count: running.length })}</summary>
        <ul>
          {running.map((job) => (
            <JobLine key={job.id} {...{ project, job }} />
          ))}
        </ul>
        {failure !== null && (
          <Failed error={failure} asOf={dataUpdatedAt} onRetry={() => void refetch()} />
        )}
      </details>
    </aside>
  )
}

function JobLine({ project, job }: { project: string; job: ListedJob }) {
  const { id, state, progress, done, total, by, isCancelling } = job
  const [failure, setFailure] = useState<ApiFailure>()
  const label = labelOf(job)
  const obstacle = whyNot(projectWith(project))
  const cancel = async () => {
    try {
      await call('DELETE /jobs/{id}', { project, params: { id } })
      setFailure(undefined)
    } catch (error) {
      setFailure(error as ApiFailure)
    }
    void queryClient.invalidateQueries({ queryKey: [LIST] })
  }
  return (
    <li>
      <p class="row between">
        <span class="grow">
          <b lang={wordsOf(job) === undefined ? 'en' : undefined}>{label}</b>{' '}
          <span class="muted">
            {t(`job.${state}`)}
            {by !== null && ` ${t('tray.by', { email: by.email })}`}
          </span>
        </span>
        <button
          class="btn quiet"
          type="button"
          disabled={isCancelling || obstacle !== undefined}
          title={obstacle}
          onClick={cancel}
        >
          {t('tray.cancel')}
        </button>
      </p>
      <progress aria-label={label} max={100} value={progress} />
      <p class="xs muted">{total === null ? done : t('tray.progress', { done, total })}</p>
      {failure !== undefined && (
        <p class="fault" role="alert">
          {codeText('failed', failure.code) ?? <span lang="en">{failure.message}</span>}
        </p>
      )}
    </li>
  )
}

/** What the job does, in the language of the reader; undefined for a kind without words. */
function wordsOf({ kind, label }: ListedJob): string | undefined {
  return codeText('work', kind, { name: nameInLabel(label) })
}

/** As `wordsOf`, or the server's English. */
function labelOf(job: ListedJob): string {
  return wordsOf(job) ?? job.label
}

function tell(job: ListedJob): void {
  const { state, failedReason } = job
  const label = labelOf(job)
  if (state === 'failed') toast(t('tray.failed', { label, reason: failedReason ?? '' }))
  else toast(t('tray.done', { label }))
}
