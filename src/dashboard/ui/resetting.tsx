/** In place of every screen while the project is being reset. It opens again by itself. */
import { useEffect } from 'preact/hooks'
import { useCall } from '../api/queries.ts'
import { project, reloadProjects, resetting } from '../api/session.ts'
import { resettingTexts } from '../text/en/resetting.ts'
import { addTexts, t } from '../text/text.ts'
import { Page } from './page.tsx'
import { Failed } from './state.tsx'

addTexts(resettingTexts)

export default function Resetting({ id }: { id: string }) {
  const { data, error, refetch } = useCall(
    'GET /users/@me/projects/{id}/reset',
    { params: { id } },
    { poll: 'reset' },
  )
  const state = data?.data.state
  useEffect(() => {
    if (state === undefined || state === 'running') return
    resetting.value = undefined
    void reloadProjects()
  }, [state])
  return (
    <Page title={t('resetting.title')} text={t('resetting.text')}>
      <div class="body">
        {error !== null && <Failed error={error} onRetry={refetch} />}
        <progress aria-label={project.value?.name} max={100} value={data?.data.progress} />
      </div>
    </Page>
  )
}
