function e(n){return typeof n.expression=="string"?n.expression:null}export{e as c};
