/** In the chip of the campaign: all campaigns, found by their names as they are typed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useCall } from '../../api/queries.ts'
import { lazy } from '../../ui/lazy.tsx'
import { Failed, Loading } from '../../ui/state.tsx'

const Combobox = lazy(() => import('../../ui/combobox.tsx'))

const MOST = 50
/** How long the search waits for the next key. */
const PAUSE_MS = 200

type CampaignMenuProps = {
  label: string
  /** Stands there while no campaign exists. */
  empty: string
  onChoose(id: string): void
}

export default function CampaignMenu({ label, empty, onChoose }: CampaignMenuProps) {
  const [typed, type] = useState('')
  const [search, setSearch] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const query = { limit: MOST, ...(search !== '' && { search }) }
  const campaigns = useCall('GET /campaigns', { query }, { keep: true })
  const { data, error, refetch } = campaigns
  const failure = error === null ? undefined : { error, onRetry: () => void refetch() }
  const hasField = useRef(false)
  if (!hasField.current && failure !== undefined) return <Failed {...failure} />
  if (!hasField.current && data === undefined) return <Loading rows={3} />
  if (search === '' && data?.data.length === 0) {
    return <p class="small muted">{empty}</p>
  }
  // Whatever becomes of a search, what is typed stays.
  hasField.current = true
  return (
    <Combobox
      label={label}
      options={data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? []}
      failure={failure}
      value=""
      onType={type}
      isBusy={campaigns.isPlaceholderData || typed.trim() !== search}
      onChoose={onChoose}
      isOpenAtOnce
    />
  )
}
