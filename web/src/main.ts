import { mount } from 'svelte'

import App from './App.svelte'
import { preferences } from './lib/preferences.svelte'
import './styles/tokens.css'
import './styles/base.css'
import 'uplot/dist/uPlot.min.css'

preferences.apply()
const target = document.getElementById('page')
if (target !== null) mount(App, { target })
