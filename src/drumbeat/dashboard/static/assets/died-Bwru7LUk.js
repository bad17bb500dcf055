function e(a){return!a.alive&&Date.parse(a.expires_at??"")>Date.parse(a.beat_at??"")}export{e as d};
